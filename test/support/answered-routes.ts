import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { openApiRoutes } from '../../lib/http/openapi.ts'
import { routes } from '../../lib/http/routes.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** A file that gets a line with a route's name each time it answers with success. */
    answered_routes: string
  }
}

/** Fails a whole run in which some route never answered with success: nobody tests it. */
export default function setup(project: TestProject) {
  const folder = mkdtempSync(join(tmpdir(), 'chat-routes-'))
  const file = join(folder, 'answered')
  project.provide('answered_routes', file)

  return async () => {
    const answered = new Set(existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [])
    rmSync(folder, { recursive: true, force: true })
    const { testFiles } = await project.globTestFiles()
    const isWhole = project.vitest.state.getFiles().length >= testFiles.length && !project.config.testNamePattern
    const untested = Object.keys({ ...routes, ...openApiRoutes }).filter((name) => !answered.has(name))
    if (isWhole && untested.length > 0)
      throw new Error(`No test calls these routes with success: ${untested.join(', ')}`)
  }
}
