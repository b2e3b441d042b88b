// The colours a campaign may choose, and what follows from them. The paper is the page's own, so whether words can be read
// is known before the page is built.

import { PAPER } from '#shared/paper-colours.ts';

/** One colour for the light theme and one for the dark, each as #rrggbb. */
type ColourPair = { readonly light: string; readonly dark: string };
/** Links, buttons and ornaments; and the dark plate that 'The Solution' stands on. */
export type Colours = { readonly accent: ColourPair; readonly plate: ColourPair };

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

/** Relative luminance, as WCAG 2.2 defines it. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The contrast of two colours, from 1 to 21, as WCAG 2.2 defines it. */
export function contrastOf(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

const tintOf = (accent: string, theme: keyof ColourPair) => mix(accent, 0.09, PAPER[theme]);
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
  });
  const rule = (selector: string, theme: keyof ColourPair) =>
    `${selector}{${Object.entries(tokens(theme))
      .map(([name, value]) => `--${name}:${value}`)
      .join(';')}}`;
  return rule(':root', 'light') + rule('.dark', 'dark');
}
