/**
 * Packs the API reference's viewer (swagger-ui-dist) for the origin Worker: .build/viewer/*.bin, gzipped once here so that neither
 * bundle nor isolate holds it plain. wrangler runs this before each build (`[build]` in wrangler.toml), the tests before they start.
 * Plain JavaScript, because `wrangler deploy` may run it under Node 20.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const FILES = ["swagger-ui-bundle.js", "swagger-ui-standalone-preset.js", "swagger-ui.css"];
const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const source = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
const target = join(ROOT, ".build", "viewer");

mkdirSync(target, { recursive: true });
for (const file of FILES) writeFileSync(join(target, `${file}.gz.bin`), gzipSync(readFileSync(join(source, file)), { level: 9 }));
