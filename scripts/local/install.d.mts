export function install(root: string): Promise<string | null>;
