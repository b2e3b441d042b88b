// A histogram of response times. prom-client builds a key from the labels at each request, which takes a
// tenth of a response's time.

export type AnsweredRequest = {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly ms: number;
};

export type RequestTimes = {
  readonly note: (request: AnsweredRequest) => void;
  readonly render: () => string;
};

const NAME = 'lead_page_request_seconds';
const HELP = 'Requests answered, by method, route and status.';
const BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

type Times = {
  readonly labels: string;
  /** Not cumulative; the last bucket has no upper bound. */
  readonly counts: number[];
  seconds: number;
};

export function createRequestTimes(): RequestTimes {
  const byRoute = new Map<string, Map<string, Map<number, Times>>>();
  const all: Times[] = [];

  function add({ method, route, status }: AnsweredRequest): Times {
    const labels = `method=${quoted(method)},route=${quoted(route)},status="${status}"`;
    const times = { labels, counts: [...BUCKETS_SECONDS, Infinity].map(() => 0), seconds: 0 };
    const byMethod = byRoute.get(route) ?? new Map<string, Map<number, Times>>();
    const byStatus = byMethod.get(method) ?? new Map<number, Times>();
    byRoute.set(route, byMethod.set(method, byStatus.set(status, times)));
    all.push(times);
    return times;
  }

  return {
    note: (request) => {
      const times = byRoute.get(request.route)?.get(request.method)?.get(request.status) ?? add(request);
      const seconds = request.ms / 1000;
      let bucket = 0;
      while (seconds > (BUCKETS_SECONDS[bucket] ?? Infinity)) bucket += 1;
      times.counts[bucket] = (times.counts[bucket] ?? 0) + 1;
      times.seconds += seconds;
    },
    render: () =>
      [`# HELP ${NAME} ${HELP}`, `# TYPE ${NAME} histogram`, ...all.flatMap(linesOf)]
        .map((line) => `${line}\n`)
        .join(''),
  };
}

function linesOf({ labels, counts, seconds }: Times): string[] {
  let count = 0;
  const buckets = counts.map((more, index) => {
    count += more;
    return `${NAME}_bucket{le="${BUCKETS_SECONDS[index] ?? '+Inf'}",${labels}} ${count}`;
  });
  return [...buckets, `${NAME}_sum{${labels}} ${seconds}`, `${NAME}_count{${labels}} ${count}`];
}

const quoted = (value: string): string =>
  `"${value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')}"`;
