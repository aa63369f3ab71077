import type { Part } from "../part.ts";
export const publish: Part = { name: "publish", about: "", run: async () => [] };
