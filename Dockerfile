FROM node:20-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build

FROM node:20-slim
# The worker beside the proxy would take a free port otherwise, and nobody could scrape it.
ENV NODE_ENV=production WORKER_PORT=9465
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts && npm cache clean --force
COPY --from=build /app/dist dist
COPY prisma prisma
# The log's key and checkpoints, unless LOG_SIGNING_KEY and CHECKPOINT_FILE say otherwise: keep them in a volume.
RUN mkdir .data && chown 1000:1000 .data
VOLUME /app/.data
# The user node by its number, so that a runtime can see that it is not root.
USER 1000:1000
EXPOSE 3000 9464 9465
CMD ["node", "--max-semi-space-size=64", "--v8-pool-size=1", "dist/main.js"]
