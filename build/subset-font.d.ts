// subset-font ships no types; this is the part of it that build.ts and media/make-font.ts use.
declare module 'subset-font' {
  type AxisRange = {
    readonly min: number;
    readonly max: number;
    readonly default?: number;
  };

  type SubsetOptions = {
    readonly targetFormat: 'sfnt' | 'woff' | 'woff2';
    readonly noHinting?: boolean;
    /** OpenType features to keep; all of them if not given. */
    readonly keepFeatures?: readonly string[];
    readonly dropTables?: readonly string[];
    readonly variationAxes?: Readonly<Record<string, number | AxisRange>>;
  };

  function subsetFont(font: Buffer, text: string, options: SubsetOptions): Promise<Buffer>;

  export = subsetFont;
}
