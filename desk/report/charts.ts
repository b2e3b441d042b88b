// Draws the charts of the report as SVG. Only the report loads this: the library is large, and no server needs it.
import { BarChart, type BarSeriesOption } from 'echarts/charts';
import { GridComponent, type GridComponentOption } from 'echarts/components';
import { init, use as register, type ComposeOption } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';

import type { Report } from '#desk/report/report.ts';
import {
  FATES,
  areCodesKnown,
  areViewsKnown,
  notEntered,
  number,
  percent,
  shortDay,
  shownSteps,
  timeGroupName,
} from '#desk/report/sentences.ts';
import type { Section } from '#desk/report/tables.ts';

register([BarChart, GridComponent, SVGRenderer]);

type Options = ComposeOption<BarSeriesOption | GridComponentOption>;

/** Colours are the page's own, so that one drawing is right in light, in dark and on paper. */
const ACCENT = 'var(--accent)';
const QUIET = 'var(--quiet-bar)';
const TEXT = 'var(--text)';
const MUTED = 'var(--muted)';
const LINE = 'var(--line)';
/** The page's own; a list of names would need quotes, which the library writes into an attribute as they are. */
const FONT = 'inherit';
const FONT_SIZE = 13;
const LINE_HEIGHT = 34;
/** More than most letters take. */
const LETTER_WIDTH = 7.2;

/**
 * @param width in CSS pixels; the drawing scales
 * @returns an SVG element, or null when there is nothing to draw
 */
export function drawChart(chart: Section['chart'], report: Report, width: number): string | null {
  const { funnel, byDay, bySource, byPlatform, timeToEnter, notEntered: missed } = report;
  const isCodeKnown = areCodesKnown(funnel);
  const stacked = (rows: typeof byPlatform) =>
    lines(
      rows.map((row) => ({
        name: row.name,
        solid: row.leads,
        quiet: !isCodeKnown ? 0 : notEntered(row),
        label: !isCodeKnown ? number(row.leads) : `${number(row.leads)} · ${percent(row.entered, row.asked)}`,
      })),
      width,
    );
  switch (chart) {
    case 'funnel':
      return lines(
        shownSteps(report).map(({ name, count, share, ofBefore }) => ({
          name,
          solid: count,
          quiet: 0,
          label: [number(count), areViewsKnown(funnel) ? ofBefore : share]
            .filter((text) => text !== null)
            .join(' · '),
        })),
        width,
      );
    case 'day':
      return columns(
        byDay.map((row) => ({
          name: shortDay(row.day),
          solid: row.leads,
          quiet: !isCodeKnown ? 0 : notEntered(row),
        })),
        width,
      );
    case 'source':
      return stacked(bySource);
    case 'platform':
      return stacked(byPlatform);
    case 'time':
      return lines(
        (timeToEnter?.groups ?? []).map(({ belowSeconds, people }, index, groups) => ({
          name: timeGroupName(belowSeconds, groups[index - 1]?.belowSeconds ?? 0),
          solid: people,
          quiet: 0,
          label: people === 0 ? '0' : `${number(people)} · ${percent(people, timeToEnter?.people ?? 0)}`,
        })),
        width,
      );
    case 'fate':
      return lines(
        missed.map(({ fate, people }) => ({
          name: FATES[fate],
          solid: 0,
          quiet: people,
          label: number(people),
        })),
        width,
      );
  }
}

type Bar = { readonly name: string; readonly solid: number; readonly quiet: number };

/** Lying bars, one below the other, the name above and the figure behind each. */
function lines(bars: readonly (Bar & { readonly label: string })[], width: number): string | null {
  if (bars.every(({ solid, quiet }) => solid + quiet === 0)) return null;
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
          bars.map(({ solid }) => solid),
          ACCENT,
        ),
        {
          ...series(
            bars.map(({ quiet }) => quiet),
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

/** Standing bars along time. */
function columns(bars: readonly Bar[], width: number): string | null {
  if (bars.every(({ solid, quiet }) => solid + quiet === 0)) return null;
  const axisLabel = { color: MUTED, fontSize: FONT_SIZE, fontFamily: FONT };
  const most = Math.max(...bars.map(({ solid, quiet }) => solid + quiet));
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
          bars.map(({ solid }) => solid),
          ACCENT,
        ),
        series(
          bars.map(({ quiet }) => quiet),
          QUIET,
        ),
      ],
    },
    { width, height: width < 500 ? 220 : 260 },
  );
}

/** So many names are passed over between two that are written. */
const labelStep = (count: number, width: number): number =>
  Math.max(0, Math.ceil(count / Math.max(2, Math.floor(width / 96))) - 1);

function draw(options: Options, size: { readonly width: number; readonly height: number }): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, ...size });
  try {
    chart.setOption({ animation: false, ...options });
    return chart.renderToSVGString({ useViewBox: true });
  } finally {
    chart.dispose();
  }
}
