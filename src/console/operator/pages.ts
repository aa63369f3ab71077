/** The operators' pages, in the order of the menu. */
import type { Page } from "../page.ts";
import { OPERATOR_HOME_PAGES } from "./home.tsx";

export const OPERATOR_PAGES: readonly Page[] = [...OPERATOR_HOME_PAGES];
