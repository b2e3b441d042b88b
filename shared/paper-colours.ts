// The paper, which no campaign changes. Separate from colours.ts because the boot script includes it.

/** Keep in step with web/styles/tokens.css. */
export const PAPER = { light: '#faf7f0', dark: '#12130f' } as const;
