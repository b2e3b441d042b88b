// subset-font does not include types.
declare module 'subset-font' {
  type SubsetOptions = {
    readonly targetFormat: 'sfnt' | 'woff' | 'woff2';
    readonly dropTables?: readonly string[];
    readonly variationAxes?: Readonly<Record<string, number>>;
  };

  function subsetFont(font: Buffer, text: string, options: SubsetOptions): Promise<Buffer>;

  export = subsetFont;
}
