import { defineConfig } from "drizzle-kit";

export default defineConfig({ dialect: "sqlite", schema: "./src/db/schema/products.ts", out: "./drizzle/products", casing: "snake_case" });
