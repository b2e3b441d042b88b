// subset-font ships no types; this is the part of it that make-font.ts uses.
declare module 'subset-font' {
  type AxisRange = {
    readonly min: number;
    readonly max: number;
    readonly default?: number;
  };

  type SubsetOptions = {
    readonly targetFormat: 'sfnt' | 'woff' | 'woff2';
    readonly variationAxes?: Readonly<Record<string, number | AxisRange>>;
  };

  function subsetFont(font: Buffer, text: string, options: SubsetOptions): Promise<Buffer>;

  export = subsetFont;
}
