export function licensesOf(root: string, inputs: readonly string[]): string[];
export function licenseIn(folder: string): string;
