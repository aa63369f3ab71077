/** Of every page. What it does makes a page more convenient: without it, all of it works as well. */
import "./elements/confirm-action.ts";
import "./elements/copy-text.ts";
import { closeMenuLeft } from "./elements/close-menu.ts";
import { sendOnce } from "./elements/send-once.ts";

closeMenuLeft(document);
sendOnce(document);
