export const words = (text: string): readonly string[] => text.trim().split(/\s+/);
