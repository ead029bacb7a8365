import { afterAll, beforeAll } from 'vitest'
import { type Dialect, describeOnEachDatabase } from './databases.ts'
import { type ServiceOptions, startService, type TestService } from './service.ts'

type Suite<S> = (service: S, dialect: Dialect) => void
type Start<S> = (url: string) => Promise<S>

/**
 * Describes a service on each database. It is started before the tests, with these options or by this function, and closed
 * after them: what it has exists from then on, so it is not taken apart outside of a test or a hook.
 */
export function describeService(title: string, suite: Suite<TestService>): void
export function describeService(title: string, options: ServiceOptions, suite: Suite<TestService>): void
export function describeService<S extends TestService>(title: string, start: Start<S>, suite: Suite<S>): void
export function describeService(
  title: string,
  ...rest: [Suite<TestService>] | [ServiceOptions | Start<TestService>, Suite<TestService>]
): void {
  const [how, suite] = rest.length === 1 ? [{}, rest[0]] : rest
  const start = typeof how === 'function' ? how : (url: string) => startService(url, how)
  describeOnEachDatabase(title, (openUrl, dialect) =>
    suite(
      setUpService(async () => start(await openUrl())),
      dialect,
    ),
  )
}

/** A service that is started before the tests of a suite, and closed after them: see {@link describeService}. */
export function setUpService<S extends TestService>(start: () => Promise<S>): S {
  const service = {} as S
  beforeAll(async () => void Object.assign(service, await start()))
  afterAll(() => service.close())
  return service
}

/** Services that are started before the tests of a suite, and closed after them: nodes of one database. */
export function setUpNodes(start: () => Promise<[TestService, TestService]>): [TestService, TestService] {
  const nodes: [TestService, TestService] = [{} as TestService, {} as TestService]
  beforeAll(async () => {
    const started = await start()
    nodes.forEach((node, index) => void Object.assign(node, started[index]))
  })
  afterAll(async () => void (await Promise.all(nodes.map((node) => node.close()))))
  return nodes
}

/** Two nodes with these options on one database. */
export async function startNodes(url: string, options?: ServiceOptions): Promise<[TestService, TestService]> {
  return [await startService(url, options), await startService(url, options)]
}
