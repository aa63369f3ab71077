/** Tables of the network database (binding DB). */
export * from "./book.ts";
export * from "./brands.ts";
export * from "./imports.ts";
export * from "./platforms.ts";
export * from "./publishers.ts";
