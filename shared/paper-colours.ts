// The page's own ground, which no campaign changes; apart from colours.ts because the boot script carries it.

/** As in web/styles/tokens.css. */
export const PAPER = { light: '#faf7f0', dark: '#12130f' } as const;
