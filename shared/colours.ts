// The colours a campaign may choose, and what follows from them. The paper is the page's own, so whether words can be read
// is known before the page is built.

import { PAPER } from '#shared/paper-colours.ts';

/** One colour for the light theme and one for the dark, each as #rrggbb. */
export type ColourPair = { readonly light: string; readonly dark: string };
/** Links, buttons and ornaments; and the dark plate that 'The Solution' stands on. */
export type Colours = { readonly accent: ColourPair; readonly plate: ColourPair };

/** The accent of the design, for campaigns without colours of their own; as in web/styles/tokens.css. */
export const ACCENT: ColourPair = { light: '#0e5a43', dark: '#8fd3b2' };

/** As in web/styles/tokens.css. */
const CARD: ColourPair = { light: '#fffdf8', dark: '#1a1c17' };
const ON_PLATE = '#f6f1e4';
const ON_ACCENT: ColourPair = { light: '#ffffff', dark: '#10110d' };

/** WCAG 2.2, 1.4.3: text of ordinary size. */
const LEAST_CONTRAST = 4.5;

const channels = (colour: string): number[] =>
  [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));

/** Mixes two colours. */
function mix(one: string, share: number, other: string): string {
  const rest = channels(other);
  const mixed = channels(one).map((value, at) => Math.round(value * share + (rest[at] ?? 0) * (1 - share)));
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

/** The channels as amounts of light, from 0 to 1. */
const linearChannels = (colour: string): number[] =>
  channels(colour).map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });

/** Relative luminance, as WCAG 2.2 defines it. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = linearChannels(colour);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The contrast of two colours, from 1 to 21, as WCAG 2.2 defines it. */
export function contrastOf(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** A colour in Oklch: lightness from 0 to 1, chroma, and hue in radians. */
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

/** Below this chroma a colour is a grey, and its hue means nothing. */
const LEAST_CHROMA = 0.02;

/** The paper with a breath of the accent. It keeps the accent's hue: mixed with warm paper, a blue would become a dirty grey. */
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

/**
 * Which of a campaign's colours could not be read.
 * @returns one phrase for each, to stand behind the name of the entry
 */
export function colourComplaints({ accent, plate }: Colours): { entry: string[]; complaint: string }[] {
  return (['light', 'dark'] as const).flatMap((theme) => {
    const [paper, colour] = [PAPER[theme], accent[theme]];
    const complaints: { entry: string[]; complaint: string }[] = [];
    const grounds = [paper, CARD[theme], tintOf(colour, theme)];
    const onPaper = Math.min(...grounds.map((ground) => contrastOf(colour, ground)));
    if (onPaper < LEAST_CONTRAST) {
      complaints.push({
        entry: ['accent', theme],
        complaint: `has a contrast of ${say(onPaper)}:1 to the page; words need 4.5:1, so choose a ${theme === 'light' ? 'darker' : 'lighter'} one`,
      });
    }
    const onPlate = contrastOf(mutedOn(plate[theme]), plate[theme]);
    if (onPlate < LEAST_CONTRAST) {
      complaints.push({
        entry: ['plate', theme],
        complaint: `has a contrast of ${say(onPlate)}:1 to the words on it; they need 4.5:1, so choose a darker one`,
      });
    }
    return complaints;
  });
}

/** Rounded down: 4.49 must not read as 4.5. */
const say = (contrast: number): string => (Math.floor(contrast * 10) / 10).toFixed(1);

/** The styles that put a campaign's colours in the place of those of web/styles/tokens.css. */
export function colourStyles({ accent, plate }: Colours): string {
  const towards: ColourPair = { light: '#000000', dark: '#ffffff' };
  const tokens = (theme: keyof ColourPair) => ({
    accent: accent[theme],
    'accent-strong': mix(accent[theme], 0.8, towards[theme]),
    'on-accent': ON_ACCENT[theme],
    tint: tintOf(accent[theme], theme),
    plate: plate[theme],
    'on-plate-muted': mutedOn(plate[theme]),
    // The sign on the film's white button.
    'play-mark': plate.light,
    // What is printed on the guide's cover, which is paper in both themes (web/guide/guide-cover.module.css).
    spine: accent.light,
  });
  const rule = (selector: string, theme: keyof ColourPair) =>
    `${selector}{${Object.entries(tokens(theme))
      .map(([name, value]) => `--${name}:${value}`)
      .join(';')}}`;
  return rule(':root', 'light') + rule('.dark', 'dark');
}
