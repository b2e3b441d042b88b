// Draws the charts of the report as SVG. Only the report loads this: the library is large, and no server needs it.
import { BarChart, type BarSeriesOption } from 'echarts/charts';
import { GridComponent, type GridComponentOption } from 'echarts/components';
import { init, use as register, type ComposeOption } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';

import { number } from '#desk/report/sentences.ts';
import type { Bar, Section } from '#desk/report/sections.ts';

register([BarChart, GridComponent, SVGRenderer]);

/** Charts are drawn for both widths: text scaled down to a phone cannot be read. In CSS pixels. */
export const WIDE = 800;
export const NARROW = 360;
const WIDE_CHARTS: ReadonlySet<Section['chart']> = new Set(['day']);

/** Whether a section takes the width of the page, and is drawn for it as well. */
export const isWide = ({ chart }: Pick<Section, 'chart'>): boolean => WIDE_CHARTS.has(chart);

type Options = ComposeOption<BarSeriesOption | GridComponentOption>;

/** Colours of the page, so that one drawing fits light, dark and paper. */
const ACCENT = 'var(--accent)';
const QUIET = 'var(--quiet-bar)';
const TEXT = 'var(--text)';
const MUTED = 'var(--muted)';
const LINE = 'var(--line)';
/** The font of the page. A list of names would need quotes, which the library does not escape in an attribute. */
const FONT = 'inherit';
const FONT_SIZE = 13;
const LINE_HEIGHT = 34;
/** Wider than most letters. */
const LETTER_WIDTH = 7.2;

/**
 * @param width in CSS pixels; the drawing scales
 * @returns an SVG element, or null when there is nothing to draw
 */
export function drawChart({ chart, bars }: Pick<Section, 'chart' | 'bars'>, width: number): string | null {
  if (bars.every(({ value, rest }) => value + rest === 0)) return null;
  return chart === 'day' ? columns(bars, width) : lines(bars, width, chart === 'fate' ? QUIET : ACCENT);
}

/** Horizontal bars, one below the other, each with its name before it and its label behind it. */
function lines(bars: readonly Bar[], width: number, valueColor: string): string {
  const nameWidth = Math.min(width * 0.56, LETTER_WIDTH * longest(bars.map(({ name }) => name)) + 16);
  const labelWidth = LETTER_WIDTH * longest(bars.map(({ label }) => label)) + 10;
  const series = (data: readonly number[], color: string): BarSeriesOption => ({
    type: 'bar',
    stack: 'all',
    barWidth: 14,
    silent: true,
    data: [...data],
    itemStyle: { color, borderRadius: 2 },
  });
  return draw(
    {
      grid: { left: nameWidth, right: labelWidth, top: 4, bottom: 4, outerBoundsMode: 'none' },
      xAxis: { type: 'value', show: false, max: 'dataMax' },
      yAxis: {
        type: 'category',
        inverse: true,
        data: bars.map(({ name }) => name),
        axisLine: { show: false },
        axisTick: { show: false },
        axisLabel: {
          color: TEXT,
          fontSize: FONT_SIZE,
          fontFamily: FONT,
          align: 'left',
          margin: nameWidth,
          width: nameWidth - 12,
          overflow: 'truncate',
          ellipsis: '…',
          interval: 0,
        },
      },
      series: [
        series(
          bars.map(({ value }) => value),
          valueColor,
        ),
        {
          ...series(
            bars.map(({ rest }) => rest),
            QUIET,
          ),
          label: {
            show: true,
            position: 'right',
            color: MUTED,
            fontSize: FONT_SIZE,
            fontFamily: FONT,
            formatter: ({ dataIndex }) => bars[dataIndex]?.label ?? '',
          },
        },
      ],
    },
    { width, height: bars.length * LINE_HEIGHT + 8 },
  );
}

const longest = (texts: readonly string[]): number => Math.max(...texts.map(({ length }) => length));

/** Vertical bars along time. */
function columns(bars: readonly Bar[], width: number): string {
  const axisLabel = { color: MUTED, fontSize: FONT_SIZE, fontFamily: FONT };
  const most = Math.max(...bars.map(({ value, rest }) => value + rest));
  const series = (data: readonly number[], color: string): BarSeriesOption => ({
    type: 'bar',
    stack: 'all',
    barMaxWidth: 28,
    barCategoryGap: bars.length > 40 ? '18%' : '30%',
    silent: true,
    data: [...data],
    itemStyle: { color },
  });
  return draw(
    {
      grid: { left: 8 + 8 * number(most).length + 8, right: 18, top: 12, bottom: 28 },
      xAxis: {
        type: 'category',
        data: bars.map(({ name }) => name),
        axisLine: { lineStyle: { color: LINE } },
        axisTick: { show: false },
        axisLabel: { ...axisLabel, interval: labelStep(bars.length, width), hideOverlap: true },
      },
      yAxis: {
        type: 'value',
        minInterval: 1,
        splitNumber: 4,
        axisLabel: { ...axisLabel, formatter: (value) => number(value) },
        splitLine: { lineStyle: { color: LINE } },
      },
      series: [
        series(
          bars.map(({ value }) => value),
          ACCENT,
        ),
        series(
          bars.map(({ rest }) => rest),
          QUIET,
        ),
      ],
    },
    { width, height: width < 500 ? 220 : 260 },
  );
}

/** How many names are left out between two that are written. */
const labelStep = (count: number, width: number): number =>
  Math.max(0, Math.ceil(count / Math.max(2, Math.floor(width / 96))) - 1);

function draw(options: Options, size: { readonly width: number; readonly height: number }): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, ...size });
  try {
    chart.setOption({ animation: false, ...options });
    return withoutStyles(chart.renderToSVGString({ useViewBox: true }));
  } finally {
    chart.dispose();
  }
}

/**
 * Takes out what a Content-Security-Policy without 'unsafe-inline' refuses: the font stands in attributes instead, and what reacts to a
 * pointer goes, as nothing does. Names that were drawn have no quotation mark or angle bracket, because the library escapes them.
 */
const withoutStyles = (svg: string): string =>
  svg
    .replaceAll(/<style[^>]*>[\s\S]*?<\/style>/g, '')
    .replaceAll(/ style="font-size:(\d+)px;font-family:([a-z]+);"/g, ' font-size="$1" font-family="$2"')
    .replaceAll(/ (?:class|ecmeta_\w+)="[^"]*"/g, '');
