/** Prints the map of parts into docs/architecture.md. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../local/paths.ts";
import { PAGE, printInto } from "./parts/parts-table.ts";

const path = join(ROOT, PAGE);
writeFileSync(path, printInto(readFileSync(path, "utf8")));
