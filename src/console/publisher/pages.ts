/** The publishers' pages, in the order of the menu. */
import type { Page } from "../page.ts";
import { EARNINGS_PAGES } from "./earnings.tsx";

export const PUBLISHER_PAGES: readonly Page[] = [...EARNINGS_PAGES];
