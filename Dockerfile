FROM node:20-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build

FROM node:20-slim
ENV NODE_ENV=production
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
EXPOSE 3000 9464
CMD ["node", "--max-semi-space-size=64", "--v8-pool-size=1", "dist/main.js"]
