import type { Part } from "../part.ts";
export const clickConsumerPostgres: Part = { name: "click-consumer-postgres", about: "", run: async () => [] };
