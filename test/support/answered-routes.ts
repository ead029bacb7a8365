import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import type { AnyRoute } from '../../lib/endpoint.ts'
import { routes } from '../../lib/endpoints.ts'
import { openApiRoutes } from '../../lib/http/openapi/build.ts'
import { documentedHeaders } from './documented-headers.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** A file that gets a line for each successful response of a route: its name, the status, and the headers sent. */
    answered_routes: string
  }
}

/**
 * Fails a whole run in which some route never returned success, because no test calls it; and one in which a documented
 * header of such a response was never sent.
 */
export default function setup(project: TestProject) {
  const folder = mkdtempSync(join(tmpdir(), 'chat-routes-'))
  const file = join(folder, 'answered')
  project.provide('answered_routes', file)

  return async () => {
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
    rmSync(folder, { recursive: true, force: true })
    if (!(await isWhole(project))) return
    const [untested, unsent] = missingIn(lines)
    if (untested.length > 0) fail(`No test calls these routes with success: ${untested.join(', ')}`)
    if (unsent.length > 0) fail(`Documented, and sent in no test: ${unsent.join(', ')}`)
  }
}

/** An error that is thrown here ends the run as passed. */
function fail(message: string): void {
  process.exitCode = 1
  console.error(message)
}

/** Whether the whole of `npm test` was run, and not a selection. */
async function isWhole({ vitest, config }: TestProject): Promise<boolean> {
  const everyday = vitest.projects.filter(({ name }) => name === 'main' || name === 'isolated')
  const globbed = await Promise.all(everyday.map((part) => part.globTestFiles()))
  const ran = new Set(vitest.state.getFiles().map(({ filepath }) => filepath))
  return (
    everyday.length === 2 &&
    !config.testNamePattern &&
    globbed.flatMap((all) => all.testFiles).every((file) => ran.has(file))
  )
}

/** The routes without a successful response, and the headers that no such response had. */
function missingIn(lines: string[]): [untested: string[], unsent: string[]] {
  const seen = new Map<string, Set<string>>()
  for (const [name, status, ...headers] of lines.map((line) => line.split(' '))) {
    const answer = `${name} ${status}`
    seen.set(answer, new Set([...(seen.get(answer) ?? []), ...headers]))
  }
  const all = Object.entries<AnyRoute>({ ...routes, ...openApiRoutes })
  const answers = all.flatMap(([name, route]) =>
    [route.status, ...(route.answer === 'redirect' ? [303] : [])].map((status) => ({ name, route, status })),
  )
  return [
    answers.filter(({ name, status }) => !seen.has(`${name} ${status}`)).map(({ name, status }) => `${name} ${status}`),
    answers.flatMap(({ name, route, status }) => {
      const sent = seen.get(`${name} ${status}`)
      const documented = [...(documentedHeaders(route, status)?.keys() ?? [])]
      return sent ? documented.filter((header) => !sent.has(header)).map((header) => `${name} ${header}`) : []
    }),
  ]
}
