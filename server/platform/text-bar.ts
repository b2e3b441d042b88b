// A bar of block characters, for figures in plain text.
const BAR_WIDTH = 24;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/**
 * @param share of the longest bar, from 0 to 1
 * @param width of the longest bar in characters
 */
export function textBar(share: number, width = BAR_WIDTH): string {
  const eighths = share > 0 ? Math.max(1, Math.round(share * width * 8)) : 0;
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
}
