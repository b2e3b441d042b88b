// A font that can set a few given texts and nothing else, as small as it gets: their letters at one weight, the kerning of
// the pairs that stand in them, and one short name.
import { Blob, Buffer as Text, Face, Feature, Font, shape } from 'harfbuzzjs';
import subsetFont from 'subset-font';

/**
 * Makes the font.
 * @param whole variable in its weight
 * @param texts that are set in it
 * @returns WOFF2
 */
export async function makeHeadlineFont(whole: Buffer, texts: readonly string[]): Promise<Buffer> {
  const letters = texts.join('');
  const font = await subsetFont(whole, letters, {
    targetFormat: 'sfnt',
    variationAxes: { wght: 500 },
    // What no browser needs for these letters.
    noHinting: true,
    dropTables: ['GDEF', 'GSUB', 'STAT', 'gasp'],
  });
  const pairs = kernedPairs(font, texts);
  replaceTable(font, 'GPOS', kerningTable(pairs));
  replaceTable(font, 'name', NAME_TABLE);
  return subsetFont(font, letters, {
    targetFormat: 'woff2',
    dropTables: pairs.length === 0 ? ['GPOS'] : [],
  });
}

/** Glyphs by their numbers in the font, and by how much the second moves towards the first or away, in units of the font. */
type Pair = { readonly first: number; readonly second: number; readonly distance: number };

/** The pairs of letters in the texts that stand closer or wider than their widths say. */
function kernedPairs(font: Buffer, texts: readonly string[]): Pair[] {
  const face = new Font(new Face(new Blob(font)));
  const glyphsOf = (text: string, features: Feature[]) => {
    const buffer = new Text();
    buffer.addText(text);
    buffer.guessSegmentProperties();
    shape(face, buffer, features);
    const positions = buffer.getGlyphPositions();
    return buffer
      .getGlyphInfos()
      .map(({ codepoint: glyph }, index) => ({ glyph, width: positions[index]?.xAdvance ?? 0 }));
  };
  const pairs = texts.flatMap((text) => {
    const plain = glyphsOf(text, [new Feature('kern', 0)]);
    const kerned = glyphsOf(text, []);
    return kerned.slice(1).map(({ glyph: second }, index): [string, Pair] => {
      const { glyph: first = 0, width = 0 } = kerned[index] ?? {};
      return [`${first} ${second}`, { first, second, distance: width - (plain[index]?.width ?? 0) }];
    });
  });
  return Array.from(new Map(pairs).values())
    .filter(({ distance }) => distance !== 0)
    .toSorted((a, b) => a.first - b.first || a.second - b.second);
}

/** Numbers of 16 bits in the order of the network, as fonts have them; a negative one is its complement. */
const words = (...numbers: readonly number[]): Buffer =>
  Buffer.from(Uint16Array.from(numbers).buffer).swap16();

const tag = (name: string): readonly [number, number] => {
  const bytes = Buffer.from(name);
  return [bytes.readUInt16BE(0), bytes.readUInt16BE(2)];
};

/**
 * The table `GPOS` of OpenType with nothing but these pairs: one script, one feature, one lookup of pairs (type 2,
 * format 1). All offsets count from the beginning of the part they stand in.
 */
function kerningTable(pairs: readonly Pair[]): Buffer {
  const sets = Map.groupBy(pairs, ({ first }) => first);
  const firsts = [...sets.keys()];
  const header = words(1, 0, 10, 30, 44);
  const scripts = words(1, ...tag('DFLT'), 8, 4, 0, 0, 0xff_ff, 1, 0);
  const features = words(1, ...tag('kern'), 8, 0, 1, 0);
  const lookups = words(1, 4, 2, 0, 1, 8);
  const coverage = words(1, firsts.length, ...firsts);
  const coverageAt = 10 + 2 * firsts.length;
  let at = coverageAt + coverage.length;
  const offsets: number[] = [];
  const bodies = Array.from(sets.values(), (set) => {
    const body = words(set.length, ...set.flatMap(({ second, distance }) => [second, distance]));
    offsets.push(at);
    at += body.length;
    return body;
  });
  const lookup = words(1, coverageAt, 4, 0, firsts.length, ...offsets);
  return Buffer.concat([header, scripts, features, lookups, lookup, coverage, ...bodies]);
}

/**
 * One name for family, style, the whole and PostScript, in UTF-16 for Windows in English: a font without any is not one to
 * every system. Its makers and their licence are named in fonts/OFL.txt, as that licence allows.
 */
const NAME_TABLE = ((name, ids) =>
  Buffer.concat([
    words(0, ids.length, 6 + 12 * ids.length, ...ids.flatMap((id) => [3, 1, 0x4_09, id, 2 * name.length, 0])),
    Buffer.from(name, 'utf16le').swap16(),
  ]))('Headline', [1, 2, 4, 6]);

/** Puts a table in the place of a longer one, if there is one. Checksums and gaps do not survive the way into WOFF2. */
function replaceTable(font: Buffer, name: string, table: Buffer): void {
  const entries = Array.from({ length: font.readUInt16BE(4) }, (_, index) => 12 + 16 * index);
  const entry = entries.find((at) => font.toString('latin1', at, at + 4) === name);
  if (entry === undefined || font.readUInt32BE(entry + 12) < table.length) return;
  table.copy(font, font.readUInt32BE(entry + 8));
  font.writeUInt32BE(table.length, entry + 12);
}
