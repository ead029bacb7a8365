import { Agent, METHODS, request } from 'node:http'
import { afterAll, describe, expect, it } from 'vitest'
import { allRoutes } from '../support/all-routes.ts'
import { setUpService } from '../support/describe-service.ts'
import { startService, type TestService } from '../support/service.ts'

const agent = new Agent({ keepAlive: true })
afterAll(() => agent.destroy())

/** `fetch` sends no TRACE. */
function send(
  service: TestService,
  method: string,
  path: string,
): Promise<{ status: number | undefined; allow: string | undefined }> {
  return new Promise((resolve, reject) => {
    const sent = request(service.base_url + path, { method, agent }, (response) => {
      response.resume()
      resolve({ status: response.statusCode, allow: response.headers.allow })
    })
    sent.on('error', reject).end()
  })
}

const paths = [...new Set(allRoutes.map(([, { path }]) => path))]

describe.each([
  ['served', {}],
  [
    'switched off',
    {
      rate_limits: { admin_api_enabled: false },
      features: { auth_v1: false, well_known: false, openai_compat: false },
    },
  ],
])('what is %s', (_, config) => {
  const service = setUpService(() => startService('sqlite::memory:', { config }))

  it.each(paths)('%s refuses every other method, and returns the allowed ones', async (path) => {
    const own = allRoutes.flatMap(([, route]) => (route.path === path ? [route.method as string] : []))
    const allowed = [...own, ...(own.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort()
    // CONNECT asks for a tunnel, and Node closes the connection of a server that makes none.
    const others = METHODS.filter((method) => !allowed.includes(method) && method !== 'CONNECT')
    const answers = await Promise.all(others.map((method) => send(service, method, path.replaceAll(/\{\w+\}/g, 'x'))))
    const wrong = others.filter((_, i) => answers[i]!.status !== 405 || answers[i]!.allow !== allowed.join(', '))
    expect(wrong).toEqual([])
    expect(await send(service, 'OPTIONS', path.replaceAll(/\{\w+\}/g, 'x'))).toEqual({
      status: 204,
      allow: allowed.join(', '),
    })
  })
})
