export const valuesOf = <Row, Name extends keyof Row>(rows: readonly Row[], name: Name): Row[Name][] =>
  rows.map((row) => row[name]);
