FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
# .git is not copied, so the commit comes from outside: docker build --build-arg COMMIT=$(git rev-parse HEAD) .
ARG COMMIT
RUN npm run build:release

FROM node:24-slim
# The worker beside the proxy would take a free port otherwise, and nobody could scrape it.
ENV NODE_ENV=production WORKER_PORT=9465
WORKDIR /app
COPY --from=build /app/release ./
# The log's key and checkpoints, unless LOG_SIGNING_KEY and CHECKPOINT_FILE say otherwise: keep them in a volume.
RUN mkdir .data && chown 1000:1000 .data
VOLUME /app/.data
# The user node by its number, so that a runtime can see that it is not root.
USER 1000:1000
EXPOSE 3000 9464 9465
CMD ["node", "--max-semi-space-size=64", "--v8-pool-size=1", "dist/main.js"]
