import { defineConfig } from "drizzle-kit";

export default defineConfig({ dialect: "sqlite", schema: "./src/db/schema/network.ts", out: "./drizzle/network", casing: "snake_case" });
