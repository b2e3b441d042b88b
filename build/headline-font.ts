// A minimal font for a few texts: it contains only their letters, their kerning pairs and one short name.
import { Blob, Buffer as Text, Face, Feature, Font, shape } from 'harfbuzzjs';
import subsetFont from 'subset-font';

export async function makeHeadlineFont(whole: Buffer, texts: readonly string[]): Promise<Buffer> {
  const letters = texts.join('');
  const font = await subsetFont(whole, letters, {
    targetFormat: 'sfnt',
    dropTables: ['GDEF', 'GSUB', 'STAT', 'gasp'],
  });
  const pairs = kernedPairs(font, texts);
  const kerned = replaceTable(font, 'GPOS', kerningTable(pairs));
  return subsetFont(replaceTable(kerned, 'name', nameTable('Headline')), letters, {
    targetFormat: 'woff2',
    dropTables: pairs.length === 0 ? ['GPOS'] : [],
  });
}

/**
 * @param axes the instance of a variable font
 * @returns the width in em
 */
export async function textWidth(
  whole: Buffer,
  text: string,
  axes: Readonly<Record<string, number>> = {},
): Promise<number> {
  const font = await subsetFont(whole, text, { targetFormat: 'sfnt', variationAxes: axes });
  const face = new Face(new Blob(font));
  const widths = shapeText(new Font(face), text).map(({ width }) => width);
  return widths.reduce((sum, width) => sum + width, 0) / face.upem;
}

type Glyph = { readonly glyph: number; readonly width: number };

function shapeText(font: Font, text: string, features: Feature[] = []): Glyph[] {
  const buffer = new Text();
  buffer.addText(text);
  buffer.guessSegmentProperties();
  shape(font, buffer, features);
  const positions = buffer.getGlyphPositions();
  return buffer
    .getGlyphInfos()
    .map(({ codepoint: glyph }, index) => ({ glyph, width: positions[index]?.xAdvance ?? 0 }));
}

/** Glyph numbers, and the kerning distance in font units: negative means closer. */
type Pair = { readonly first: number; readonly second: number; readonly distance: number };

function kernedPairs(font: Buffer, texts: readonly string[]): Pair[] {
  const face = new Font(new Face(new Blob(font)));
  const pairs = texts.flatMap((text) => {
    const plain = shapeText(face, text, [new Feature('kern', 0)]);
    const kerned = shapeText(face, text);
    return kerned.slice(1).map(({ glyph: second }, index): [string, Pair] => {
      const { glyph: first = 0, width = 0 } = kerned[index] ?? {};
      return [`${first} ${second}`, { first, second, distance: width - (plain[index]?.width ?? 0) }];
    });
  });
  return Array.from(new Map(pairs).values())
    .filter(({ distance }) => distance !== 0)
    .toSorted((a, b) => a.first - b.first || a.second - b.second);
}

/** Big-endian 16-bit numbers; negative ones as two's complement. */
const words = (...numbers: readonly number[]): Buffer =>
  Buffer.from(Uint16Array.from(numbers).buffer).swap16();

const tag = (name: string): readonly [number, number] => {
  const bytes = Buffer.from(name);
  return [bytes.readUInt16BE(0), bytes.readUInt16BE(2)];
};

/** OpenType's `GPOS` with one pair lookup (type 2, format 1). Offsets count from the start of their subtable. */
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

/** Some systems reject a font without names. The authors and the licence are in fonts/OFL.txt, as the licence allows. */
function nameTable(name: string): Buffer {
  const ids = [1, 2, 4, 6];
  const records = ids.flatMap((id) => [3, 1, 0x4_09, id, 2 * name.length, 0]);
  return Buffer.concat([
    words(0, ids.length, 6 + 12 * ids.length, ...records),
    Buffer.from(name, 'utf16le').swap16(),
  ]);
}

/** Appends the new table to the font. Checksums need no update, because WOFF2 drops them. */
function replaceTable(font: Buffer, name: string, table: Buffer): Buffer {
  const entries = Array.from({ length: font.readUInt16BE(4) }, (_, index) => 12 + 16 * index);
  const entry = entries.find((at) => font.toString('latin1', at, at + 4) === name);
  if (entry === undefined) return font;
  const aligned = Buffer.alloc(Math.ceil(font.length / 4) * 4);
  font.copy(aligned);
  aligned.writeUInt32BE(aligned.length, entry + 8);
  aligned.writeUInt32BE(table.length, entry + 12);
  return Buffer.concat([aligned, table]);
}
