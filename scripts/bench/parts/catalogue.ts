import type { Part } from "../part.ts";
export const catalogue: Part = { name: "catalogue", about: "", run: async () => [] };
