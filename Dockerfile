# The page with its campaign in one image: `docker build -t guide .` (docs/install.md).
# Another campaign in this folder: --build-arg CAMPAIGN_FOLDER=examples/german
# Under a path of another site: --build-arg PUBLIC_URL=https://example.com/guide
# With the files of the previous image, for visitors who have loaded its page: --build-arg EARLIER_IMAGE=guide
ARG NODE_IMAGE=docker.io/library/node:24.21.0-slim
ARG EARLIER_IMAGE=${NODE_IMAGE}

FROM ${EARLIER_IMAGE} AS earlier
RUN mkdir -p /app/dist

FROM ${NODE_IMAGE} AS site
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.base.json ./
COPY build build
COPY server server
COPY shared shared
COPY web web
COPY desk/tsconfig.json desk/tsconfig.json
COPY desk/endpoints desk/endpoints
COPY desk/web desk/web
ARG CAMPAIGN_FOLDER=campaign
COPY ${CAMPAIGN_FOLDER} campaign
COPY --from=earlier /app/dist dist
ARG PUBLIC_URL
RUN node build/build.ts

FROM ${NODE_IMAGE} AS app
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
# Lists the packages for scanners: names, versions, licences and sources.
RUN npm pkg delete devDependencies scripts \
 && npm sbom --sbom-format=cyclonedx > sbom.cdx.json
# Node never reads a third of the packages: source maps, types and sources (it does not run TypeScript in packages).
RUN find node_modules -type f \( -name '*.map' -o -name '*.ts' -o -name '*.cts' -o -name '*.mts' \) -delete \
 && rm package-lock.json .npmrc
COPY LICENSE ./
COPY server server
COPY desk desk
COPY shared shared
COPY --from=site /app/campaign campaign
COPY --from=site /app/dist dist
# Keeps compiled code for the user who will run it, so a start compiles nothing, even on a read-only disk.
RUN mkdir -p node_modules/.cache data && chown node:node node_modules/.cache data
USER node
RUN node server/start.js --check \
 && node --max-semi-space-size=4 desk/start.js --help > /dev/null \
 && node desk/serve.js --check \
 && chmod -R a+rX node_modules/.cache

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="Verified Lead Page" \
      org.opencontainers.image.description="A self-hosted lead-capture page whose leads are real" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="MIT"
WORKDIR /app
COPY --from=app --chown=root:root /app .
COPY --chmod=755 deploy/desk /usr/local/bin/desk
RUN chown node:node data
USER node
ENV HOST=0.0.0.0
# The page, and the desk if DESK_URL is set.
EXPOSE 3000 3001
# Contains the database, the secret and, without SMTP_URL, mail. Everything else can be read-only.
VOLUME /app/data
STOPSIGNAL SIGTERM
# Tells Docker whether the process is alive. /api/health tells a load balancer whether to send visitors.
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "-e", "require('node:http').get({ host: '127.0.0.1', port: process.env.PORT || 3000, path: '/api/live' }, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
CMD ["node", "--no-memory-reducer", "--max-semi-space-size=16", "server/start.js"]
