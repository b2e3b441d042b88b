// An operator may choose the accent and the plate. The page's other colours are fixed, so contrast is checked before the build.

/** The page's background. Must match web/styles/tokens.css. */
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

const MIN_CONTRAST = 4.5;

const channels = (colour: string): number[] =>
  [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));

function mix(one: string, share: number, other: string): string {
  const rest = channels(other);
  const mixed = channels(one).map((value, at) => Math.round(value * share + (rest[at] ?? 0) * (1 - share)));
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

/** Returns a colour that contrasts with white and with black. */
export const middleOf = ({ light, dark }: ColourPair): string => mix(light, 0.5, dark);

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Returns the contrast ratio (WCAG 2.2), from 1 to 21. */
export function contrastOf(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** A little of the accent on white or near-black. On the yellowish paper, a blue would turn grey. */
const tintOf = ({ light }: ColourPair, theme: keyof ColourPair): string =>
  theme === 'light' ? mix(light, 0.1, '#ffffff') : mix(light, 0.2, '#161616');

const mutedOn = (plate: string) => mix(ON_PLATE, 0.78, plate);

/** Returns an error for each colour whose contrast is too low; the caller prefixes the name of the entry. */
export function colourMistakes({ accent, plate }: Colours): { entry: string[]; message: string }[] {
  return (['light', 'dark'] as const).flatMap((theme) => {
    const backgrounds = [PAPER[theme], CARD[theme], tintOf(accent, theme)];
    const onPaper = Math.min(...backgrounds.map((background) => contrastOf(accent[theme], background)));
    const onPlate = contrastOf(mutedOn(plate[theme]), plate[theme]);
    const contrasts = [
      {
        entry: 'accent',
        contrast: onPaper,
        of: 'the page',
        advice: theme === 'light' ? 'darker' : 'lighter',
      },
      { entry: 'plate', contrast: onPlate, of: 'the words on it', advice: 'darker' },
    ];
    return contrasts
      .filter(({ contrast }) => contrast < MIN_CONTRAST)
      .map(({ entry, contrast, of, advice }) => ({
        entry: [entry, theme],
        message: `has a contrast of ${roundedDown(contrast)}:1 with ${of}, but words need 4.5:1. Choose a ${advice} colour`,
      }));
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
    tint: tintOf(accent, theme),
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
