export function hasNames(language: string): boolean
export function packEmoji(): Promise<string>
export function packNames(language: string): Promise<string>
