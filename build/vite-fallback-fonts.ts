// Fallback faces until the fonts have loaded, scaled so lines break at the same words and nothing shifts.
import type { Plugin } from 'vite';

type Face = readonly [family: string, weight: number, sizePercent: number, ...local: string[]];

/** `ascent` and `descent` of a line are percent of the letter size. */
type Font = { readonly ascent: number; readonly descent: number; readonly faces: readonly Face[] };

const NEWSREADER: Font = {
  ascent: 74.2,
  descent: 26.5,
  faces: [
    ['Times-fit', 400, 101.6, 'Times New Roman', 'Liberation Serif', 'Tinos'],
    ['Times-fit', 500, 103.3, 'Times New Roman', 'Liberation Serif', 'Tinos'],
    // For Android.
    ['Noto-fit', 400, 84.3, 'Noto Serif', 'Noto Serif Regular'],
    ['Noto-fit', 500, 88.4, 'Noto Serif', 'Noto Serif Regular'],
    ['DejaVu-serif-fit', 400, 79.2, 'DejaVu Serif'],
    ['DejaVu-serif-fit', 500, 82.6, 'DejaVu Serif'],
  ],
};

const HANKEN_GROTESK: Font = {
  ascent: 100,
  descent: 30.3,
  faces: [
    // For Windows, macOS, iOS and most of Linux.
    ['Arial-fit', 400, 101.2, 'Arial', 'Liberation Sans', 'Arimo'],
    ['Arial-fit', 600, 95, 'Arial Bold', 'Liberation Sans Bold', 'Arimo Bold'],
    // For Android.
    ['Roboto-fit', 400, 101.2, 'Roboto', 'Roboto Regular'],
    ['Roboto-fit', 600, 99.4, 'Roboto Bold'],
    // For Linux without other fonts.
    ['DejaVu-fit', 400, 88.1, 'DejaVu Sans'],
    ['DejaVu-fit', 600, 79.8, 'DejaVu Sans Bold'],
  ],
};

/** A size-adjust scales the lines too, so they are divided by it. */
const cssOf = ({ ascent, descent, faces }: Font): string =>
  faces
    .map(([family, weight, sizePercent, ...local]) => {
      const unscaled = (percent: number) => `${Number(((100 * percent) / sizePercent).toFixed(1))}%`;
      return `@font-face {
  font-family: ${family};
  src: ${local.map((name) => `local('${name}')`).join(', ')};
  font-weight: ${weight};
  size-adjust: ${sizePercent}%;
  ascent-override: ${unscaled(ascent)};
  descent-override: ${unscaled(descent)};
  line-gap-override: 0%;
}
`;
    })
    .join('\n');

/** Replaces `@fallback-fonts` in web/styles/tokens.css. */
export const fallbackFonts: Plugin = {
  name: 'fallback-fonts',
  enforce: 'pre',
  transform: (code, id) =>
    id.includes('/tokens.css')
      ? code.replace('@fallback-fonts;', cssOf(NEWSREADER) + cssOf(HANKEN_GROTESK))
      : undefined,
};
