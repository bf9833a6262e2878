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
RUN mkdir .data && chown node:node .data
VOLUME /app/.data
USER node
EXPOSE 3000
CMD ["node", "--max-semi-space-size=64", "--v8-pool-size=1", "dist/main.js"]
