// Paper is the page's background. It is fixed, so contrast is checked before the build.

/** Must match web/styles/tokens.css. */
export const PAPER = { light: '#faf7f0', dark: '#12130f' } as const;

export type ColourPair = { readonly light: string; readonly dark: string };
/** `accent`: links, buttons and ornaments. `plate`: the dark panel of 'The Solution'. */
export type Colours = { readonly accent: ColourPair; readonly plate: ColourPair };

/** The default accent. Must match web/styles/tokens.css. */
export const ACCENT: ColourPair = { light: '#0e5a43', dark: '#8fd3b2' };

/** Must match web/styles/tokens.css. */
const CARD: ColourPair = { light: '#fffdf8', dark: '#1a1c17' };
const ON_PLATE = '#f6f1e4';
const ON_ACCENT: ColourPair = { light: '#ffffff', dark: '#10110d' };

const LEAST_CONTRAST = 4.5;

const channels = (colour: string): number[] =>
  [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));

function mix(one: string, share: number, other: string): string {
  const rest = channels(other);
  const mixed = channels(one).map((value, at) => Math.round(value * share + (rest[at] ?? 0) * (1 - share)));
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

/** Contrasts with white and with black. */
export const middleOf = ({ light, dark }: ColourPair): string => mix(light, 0.5, dark);

const linearChannels = (colour: string): number[] =>
  channels(colour).map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = linearChannels(colour);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Returns the contrast ratio (WCAG 2.2), from 1 to 21. */
export function contrastOf(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

type Oklch = { readonly lightness: number; readonly chroma: number; readonly hue: number };

function toOklch(colour: string): Oklch {
  const [red = 0, green = 0, blue = 0] = linearChannels(colour);
  const long = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const middle = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const short = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  const a = 1.9779984951 * long - 2.428592205 * middle + 0.4505937099 * short;
  const b = 0.0259040371 * long + 0.7827717662 * middle - 0.808675766 * short;
  return {
    lightness: 0.2104542553 * long + 0.793617785 * middle - 0.0040720468 * short,
    chroma: Math.hypot(a, b),
    hue: Math.atan2(b, a),
  };
}

function fromOklch({ lightness, chroma, hue }: Oklch): string {
  const [a, b] = [chroma * Math.cos(hue), chroma * Math.sin(hue)];
  const long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const hex = [
    4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * middle + 1.707614701 * short,
  ].map((value) => {
    const share = value <= 0.0031308 ? value * 12.92 : 1.055 * value ** (1 / 2.4) - 0.055;
    const byte = Math.round(Math.min(Math.max(share, 0), 1) * 255);
    return byte.toString(16).padStart(2, '0');
  });
  return `#${hex.join('')}`;
}

/** Colours of lower chroma count as grey, whose hue means nothing. */
const LEAST_CHROMA = 0.02;

/** Mixes a little of the accent into the paper, in OKLCH to keep the accent's hue. Mixed in RGB, a blue would turn grey. */
function tintOf(accent: string, theme: keyof ColourPair): string {
  const [colour, paper] = [toOklch(accent), toOklch(PAPER[theme])];
  const share = 0.07;
  return fromOklch({
    lightness: colour.lightness * share + paper.lightness * (1 - share),
    chroma: colour.chroma * share + paper.chroma * (1 - share),
    hue: (colour.chroma < LEAST_CHROMA ? paper : colour).hue,
  });
}
const mutedOn = (plate: string) => mix(ON_PLATE, 0.78, plate);

/** Returns an error for each colour whose contrast is too low; the caller prefixes the name of the entry. */
export function colourMistakes({ accent, plate }: Colours): { entry: string[]; message: string }[] {
  return (['light', 'dark'] as const).flatMap((theme) => {
    const [paper, colour] = [PAPER[theme], accent[theme]];
    const mistakes: { entry: string[]; message: string }[] = [];
    const grounds = [paper, CARD[theme], tintOf(colour, theme)];
    const onPaper = Math.min(...grounds.map((ground) => contrastOf(colour, ground)));
    if (onPaper < LEAST_CONTRAST) {
      mistakes.push({
        entry: ['accent', theme],
        message: `has a contrast of ${roundedDown(onPaper)}:1 with the page, but words need 4.5:1. Choose a ${theme === 'light' ? 'darker' : 'lighter'} colour`,
      });
    }
    const onPlate = contrastOf(mutedOn(plate[theme]), plate[theme]);
    if (onPlate < LEAST_CONTRAST) {
      mistakes.push({
        entry: ['plate', theme],
        message: `has a contrast of ${roundedDown(onPlate)}:1 with the words on it, but words need 4.5:1. Choose a darker colour`,
      });
    }
    return mistakes;
  });
}

/** Rounds down, because 4.49 must not read as 4.5. */
const roundedDown = (contrast: number): string => (Math.floor(contrast * 10) / 10).toFixed(1);

/** Returns CSS that overrides the tokens in web/styles/tokens.css. */
export function colourStyles({ accent, plate }: Colours): string {
  const towards: ColourPair = { light: '#000000', dark: '#ffffff' };
  const tokens = (theme: keyof ColourPair) => ({
    accent: accent[theme],
    'accent-strong': mix(accent[theme], 0.8, towards[theme]),
    'on-accent': ON_ACCENT[theme],
    tint: tintOf(accent[theme], theme),
    plate: plate[theme],
    'on-plate-muted': mutedOn(plate[theme]),
    'play-mark': plate.light,
    // The guide's cover has the paper's light colour in both themes.
    spine: accent.light,
  });
  const rule = (selector: string, theme: keyof ColourPair) =>
    `${selector}{${Object.entries(tokens(theme))
      .map(([name, value]) => `--${name}:${value}`)
      .join(';')}}`;
  return rule(':root', 'light') + rule('.dark', 'dark');
}
