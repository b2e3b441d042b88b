// subset-font does not include types.
declare module 'subset-font' {
  type AxisRange = {
    readonly min: number;
    readonly max: number;
    readonly default?: number;
  };

  type SubsetOptions = {
    readonly targetFormat: 'sfnt' | 'woff' | 'woff2';
    readonly noHinting?: boolean;
    /** OpenType features to keep; all by default. */
    readonly keepFeatures?: readonly string[];
    readonly dropTables?: readonly string[];
    readonly variationAxes?: Readonly<Record<string, number | AxisRange>>;
  };

  function subsetFont(font: Buffer, text: string, options: SubsetOptions): Promise<Buffer>;

  export = subsetFont;
}
