/** Of every page. What it does makes a page more convenient: without it, all of it works as well. */
import "./elements/confirm-action.ts";
import "./elements/copy-text.ts";
import { sendOnce } from "./elements/send-once.ts";

sendOnce(document);
