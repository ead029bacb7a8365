import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { IN_FIREFOX, ISOLATED, ON_DEMAND, PARTS, PLACED, SHARING, TWO_NODES } from './parts.ts'
import { ONE_PROCESS } from './support/one-process.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

function project(name: string, test: object): TestProjectInlineConfiguration {
  return {
    // As tsconfig.json has it: an example that is a package of its own imports this one by its name.
    resolve: {
      alias: {
        'chat-server/h3': fileURLToPath(new URL('../lib/http/index.ts', import.meta.url)),
        'chat-server/client/store': fileURLToPath(new URL('../lib/client/store/index.ts', import.meta.url)),
        'chat-server/chat-sdk': fileURLToPath(new URL('../lib/chat-sdk/index.ts', import.meta.url)),
        'chat-server/receive': fileURLToPath(new URL('../lib/receive/index.ts', import.meta.url)),
        'chat-server/web': fileURLToPath(new URL('../lib/web/index.ts', import.meta.url)),
        'chat-server/client/parts': fileURLToPath(new URL('../lib/client/store/parts.ts', import.meta.url)),
        'chat-server/client': fileURLToPath(new URL('../lib/client/index.ts', import.meta.url)),
        'chat-server/testing': fileURLToPath(new URL('../lib/testing/index.ts', import.meta.url)),
        'chat-server': fileURLToPath(new URL('../lib/index.ts', import.meta.url)),
      },
    },
    test: {
      name,
      root: ROOT,
      environment: 'node',
      // Processes, not threads: a native addon, a signal and `process.env` are then a worker's own.
      pool: 'forks',
      // A process takes its time to start, many times that where others run as well.
      testTimeout: 120_000,
      hookTimeout: 120_000,
      // However slow the machine is: its default of a second is a test of speed.
      expect: { poll: { timeout: 30_000 } },
      ...test,
    },
  }
}

export default defineConfig({
  root: ROOT,
  test: {
    // Ended from the last to the first, and one that throws at its end keeps the rest from ending: PostgreSQL is last.
    globalSetup: ['test/support/answered-routes.ts', 'test/support/build-programs.ts', 'test/support/global-setup.ts'],
    // Two thirds of the time of the tests, they wait. Every worker may hold a few connections, and the cluster of the run takes 200.
    maxWorkers: Math.min(Math.ceil(availableParallelism() * 2.5), 8),
    // Stopping PostgreSQL includes a checkpoint of everything the run has written.
    teardownTimeout: 30_000,
    // A run leaves nothing behind; the cache would only reorder files.
    cache: false,
    // But for the runs of `.ci/run`, after an installation, and their projects: each would transform all modules for itself.
    experimental: { fsModuleCache: process.env.CI === 'true' },
    projects: [
      // Files of a worker share the modules they import, which takes longer than many of them run.
      project('main', {
        include: ['test/**/*.test.ts'],
        exclude: [...ISOLATED, ...Object.values({ ...PARTS, ...ON_DEMAND }).flat(), '**/node_modules/**'],
        isolate: false,
      }),
      project('isolated', { include: ISOLATED }),
      ...Object.entries({ ...PARTS, ...ON_DEMAND }).map(([name, include]) =>
        project(name, { include, isolate: !SHARING.includes(name) }),
      ),
      // Only where they are named: a file that is run by its name is not in all of them.
      ...Object.entries(PLACED)
        .filter(([name]) => process.argv.includes(`--project=${name}`))
        .map(([name, include]) =>
          project(name, { include, env: { PLACEMENT: name.replace(/-.*/, '') }, isolate: false }),
        ),
      ...Object.entries(IN_FIREFOX)
        .filter(([name]) => process.argv.includes(`--project=${name}`))
        .map(([name, include]) => project(name, { include, env: { TEST_BROWSER: 'firefox' }, isolate: false })),
      ...Object.entries(TWO_NODES).map(([name, include]) =>
        project(name, {
          include,
          exclude: Object.keys(ONE_PROCESS.files),
          setupFiles: ['test/support/skip-one-process.ts'],
          env: { NODES: '2' },
          isolate: false,
        }),
      ),
    ],
  },
})
