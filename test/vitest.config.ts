import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  // As tsconfig.json has it: an example that is a package of its own imports this one by its name.
  resolve: { alias: { 'chat-server': fileURLToPath(new URL('../lib/index.ts', import.meta.url)) } },
  test: {
    include: ['test/**/*.test.ts'],
    // Ended from the last to the first, and one that throws at its end keeps the rest from ending: PostgreSQL is last.
    globalSetup: ['test/support/answered-routes.ts', 'test/support/global-setup.ts'],
    environment: 'node',
    // Processes, not threads: a native addon, a signal and `process.env` are then a file's own.
    pool: 'forks',
    // Every worker may hold a few connections, and the cluster of the run takes 200.
    maxWorkers: Math.min(availableParallelism(), 8),
    testTimeout: 20_000,
    hookTimeout: 20_000,
    // Stopping PostgreSQL includes a checkpoint of everything the run has written.
    teardownTimeout: 30_000,
    // A run leaves nothing behind; the cache would only reorder files.
    cache: false,
  },
})
