import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { METHODS, request } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { STATUSES } from '../../lib/core/errors.ts'
import { VERSION } from '../../lib/core/version.ts'
import type { AnyRoute } from '../../lib/endpoint.ts'
import { routes } from '../../lib/endpoints.ts'
import { ChatError, type Storage } from '../../lib/index.ts'
import { createMetrics } from '../../lib/metrics/registry.ts'
import { type Sql, sql } from '../../lib/storage/sql.ts'
import { TASK_KINDS } from '../../lib/tasks/schema.ts'
import { createRandom } from '../fault/random.ts'
import { checkedFetch } from '../support/answers.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { NO_LEVELS } from '../support/levels.ts'
import { hasPromtool, promtool } from '../support/promtool.ts'
import {
  codeOf,
  innerState,
  PASSWORD,
  type ServiceOptions,
  startService,
  startThread,
  times,
} from '../support/service.ts'

/** The maximum number of series, whatever clients send: Prometheus stores each series separately. */
const MAX_SERIES = 6_000

/** Routes that no metric counts. */
const LETTING_IN = /^\/api\/(setup|auth|oauth|guests)(\/|$)|^\/api\/invites\/(accept|preview)$/

const seriesOf = (page: string) => page.split('\n').filter((line) => line !== '' && !line.startsWith('#'))

const readingOf = (page: string, series: string) =>
  Number(
    seriesOf(page)
      .find((line) => line.startsWith(`${series} `))
      ?.split(' ')
      .at(-1),
  )

async function start(options: ServiceOptions = {}) {
  const service = await startService('sqlite::memory:', options)
  onTestFinished(() => service.close())
  return { service, page: () => service.client().ops.metrics() }
}

it('counts requests by route template and status, and nothing about sign-ins', async () => {
  const { service, page } = await start()
  const { ada, eve, conversation_id } = await startThread(service)
  await ada.conversations.get(conversation_id)
  await codeOf(eve.conversations.get(conversation_id))
  await ada.auth.me()
  await ada.keys.create({ name: 'bot' })
  await ada.auth.listSessions()
  await service.client().resets.request({ email: ada.email })
  const { token = '' } = await ada.invites.create(conversation_id, {})
  const person = { username: 'linus', email: 'linus@example.org', password: 'correct horse battery' }
  await service.client().invites.accept({ token, ...person })

  const shown = await page()
  const route = 'route="/api/conversations/{conversation_id}"'
  expect(readingOf(shown, `chat_http_requests_total{method="GET",${route},status="200"}`)).toBe(1)
  expect(readingOf(shown, `chat_http_requests_total{method="GET",${route},status="404"}`)).toBe(1)
  expect(readingOf(shown, `chat_http_request_duration_seconds_count{method="GET",${route}}`)).toBe(2)
  expect(readingOf(shown, `chat_http_request_duration_seconds_bucket{method="GET",${route},le="+Inf"}`)).toBe(2)
  expect(shown).not.toMatch(/auth|setup|login|sign(?!als)|accept|key|session|reset/i)
  expect(shown).not.toContain(conversation_id)
})

it('gives every series of its own a name that begins with chat_', async () => {
  const { page } = await start()
  const names = [...(await page()).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!)
  expect(names.length).toBeGreaterThan(20)
  expect(names.filter((name) => !/^(chat|process|nodejs)_/.test(name))).toEqual([])
})

it('leaves out every sign-in route, and no other', async () => {
  const { service, page } = await start()
  for (const route of Object.values<AnyRoute>(routes)) {
    await fetch(service.base_url + route.path.replaceAll(/\{\w+\}/g, 'x'), { method: route.method })
  }
  const seen = new Set(seriesOf(await page()).flatMap((line) => /route="([^"]+)"/.exec(line)?.[1] ?? []))
  for (const { path } of Object.values<AnyRoute>(routes)) expect(seen.has(path), path).toBe(!LETTING_IN.test(path))
})

it('has a bounded number of series for any paths, methods and hosts, and is valid for Prometheus', async () => {
  const { service, page } = await start()
  const random = createRandom(7)
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)]!
  const paths = [
    ...Object.values<AnyRoute>(routes).map(({ path }) => path),
    '/',
    '/api',
    '/v1/x',
    '/fuzz',
    '/%ff',
    '//',
  ]
  const methods = METHODS.filter((method) => method !== 'CONNECT')
  const { port } = new URL(service.base_url)
  const send = async (index: number) => {
    const path = pick(paths).replaceAll(/\{\w+\}/g, () =>
      pick(['x', 'a%2fb', `${index}`, '01980a3c-7000-7a10-8b20-000000000000']),
    )
    const headers = { host: pick([`h${index}.example`, 'localhost', '"}{']), 'x-request-id': `fuzz-${index}` }
    const sent = request({ port, method: pick(methods), path: path + pick(['', '/', `/${index}`, '?a=b']), headers })
    sent.end()
    const [response] = await once(sent, 'response')
    response.resume()
    await once(response, 'close')
  }
  for (const round of times(40, (index) => index)) await Promise.all(times(50, (index) => send(round * 50 + index)))
  const shown = await page()
  expect(seriesOf(shown).length).toBeLessThan(MAX_SERIES)
  expect(shown).not.toMatch(/fuzz|example|%2f/)
  const lines = shown.split('\n').filter((line) => line !== '')
  for (const line of lines) expect(line).toMatch(/^# (HELP|TYPE) |^[a-z_0-9]+(\{.*\})? [\d.e+-]+$/)
  if (hasPromtool) expect(promtool(['check', 'metrics'], { input: shown })).toEqual({ status: 0, output: '' })
})

it('stays below that limit even if every route returned every status, and every limit were renamed', async () => {
  const metrics = createMetrics('sqlite', TASK_KINDS)
  onTestFinished(() => metrics.close())
  const statuses = new Set([200, 201, 202, 204, ...Object.values(STATUSES)])
  for (const { method, path } of Object.values<AnyRoute>(routes)) {
    if (LETTING_IN.test(path)) continue
    const answered = metrics.route(method, path)
    for (const status of statuses) answered(status, 0.001)
  }
  for (const index of times(1_000, (each) => each)) metrics.limited(`profile ${index}`, false)
  const shown = await metrics.render(() => NO_LEVELS)
  expect(seriesOf(shown).length).toBeLessThan(MAX_SERIES)
  expect(readingOf(shown, 'chat_rate_limit_decisions_total{profile="other",decision="refused"}')).toBe(950)
})

it('puts a duration into each bucket with an upper bound of at least the duration', async () => {
  const metrics = createMetrics('sqlite', TASK_KINDS)
  onTestFinished(() => metrics.close())
  for (const seconds of [0.001, 0.0011, 5, 6]) metrics.write(seconds)
  const shown = await metrics.render(() => NO_LEVELS)
  const bucket = (le: string) => readingOf(shown, `chat_storage_write_duration_seconds_bucket{le="${le}"}`)
  expect(['0.001', '0.005', '1', '5', '+Inf'].map(bucket)).toEqual([1, 2, 2, 3, 4])
  expect(readingOf(shown, 'chat_storage_write_duration_seconds_count')).toBe(4)
  expect(readingOf(shown, 'chat_storage_write_duration_seconds_sum')).toBeCloseTo(11.0021)
})

it("counts writes refused by the storage, by reason, and not the service's own refusals", async () => {
  let trouble: 'unavailable' | 'storage_full' | undefined
  let cause: Error = new Error('of the disk')
  const wrap = (storage: Storage): Storage => ({
    ...storage,
    db: {
      ...storage.db,
      write: async (work) => {
        if (trouble) throw new ChatError(trouble, { cause })
        return storage.db.write(work)
      },
    },
  })
  const { service, page } = await start({ wrap })
  const { ada, conversation_id } = await startThread(service)
  const refused = async () => {
    const shown = await page()
    return ['unavailable', 'storage_full'].map((reason) =>
      readingOf(shown, `chat_storage_writes_refused_total{reason="${reason}"}`),
    )
  }
  const post = () =>
    service.chat.messages.postRoot({ user_id: ada.id, roles: ['member'] }, conversation_id, { content: 'x' })
  await codeOf(ada.messages.postRoot(ada.id, { content: 'x' }))
  expect(await refused()).toEqual([0, 0])
  trouble = 'storage_full'
  await codeOf(post())
  expect(await refused()).toEqual([0, 1])
  trouble = 'unavailable'
  await codeOf(post())
  await codeOf(post())
  expect(await refused()).toEqual([2, 1])
  // PostgreSQL, whose full disk is `unavailable` to callers.
  cause = Object.assign(new Error('could not extend file'), { code: '53100' })
  expect(await codeOf(post())).toBe('unavailable')
  expect(await refused()).toEqual([2, 2])
  trouble = undefined
})

it('counts the requests of any route that failed because of the storage, sign-ins too', async () => {
  let isBroken = false
  const failing = <Args extends unknown[], Result>(read: (...args: Args) => Promise<Result>) => {
    return async (...args: Args): Promise<Result> => {
      if (isBroken) throw new ChatError('unavailable', { cause: new Error('of the disk') })
      return read(...args)
    }
  }
  const wrap = ({ db, ...storage }: Storage): Storage => {
    const { get, all, write } = db
    const broken = {
      get: failing(get) as typeof get,
      all: failing(all) as typeof all,
      write: failing(write) as typeof write,
    }
    return { ...storage, db: { ...db, ...broken } }
  }
  const { service, page } = await start({ wrap })
  const ada = await service.signIn('ada')
  const failed = async () => readingOf(await page(), 'chat_storage_requests_failed_total{reason="unavailable"}')
  expect(await codeOf(ada.conversations.get('unknown'))).toBe('not_found')
  expect(await failed()).toBe(0)
  isBroken = true
  expect(await codeOf(ada.conversations.create())).toBe('unavailable')
  expect(await codeOf(ada.auth.login({ email: ada.email, password: PASSWORD }))).toBe('unavailable')
  isBroken = false
  expect(await failed()).toBe(2)
})

it('shows the number of dropped log lines, if the log provides it', async () => {
  const log = { debug() {}, info() {}, warn() {}, error() {}, dropped: () => 17 }
  const { page } = await start({ ports: { log } })
  expect(readingOf(await page(), 'chat_log_lines_dropped_total')).toBe(17)
})

it('has the usual process metrics', async () => {
  const { page } = await start()
  const begun = Date.now() / 1000
  await page()
  const shown = await page()
  const value = (name: string) => readingOf(shown, name)
  expect(value('process_resident_memory_bytes')).toBeGreaterThan(10_000_000)
  expect(value('process_cpu_seconds_total')).toBeCloseTo(
    value('process_cpu_user_seconds_total') + value('process_cpu_system_seconds_total'),
    1,
  )
  expect(value('process_start_time_seconds')).toBeGreaterThan(begun - 3_600)
  expect(value('process_start_time_seconds')).toBeLessThanOrEqual(begun)
  expect(value('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0)
  expect(value('nodejs_eventloop_utilization')).toBeLessThanOrEqual(1)
  if (process.platform === 'linux') expect(value('process_open_fds')).toBeLessThan(value('process_max_fds'))
  expect(shown).toContain(`chat_build_info{version="${VERSION}",database="sqlite",node_version="${process.version}"} 1`)
})

it('has the version of the package', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  expect(VERSION).toBe(version)
})

it('returns the page to a client with the token, as Prometheus requests it', async () => {
  const { service } = await start({ config: { metrics: { token: 'let-me-look' } } })
  const get = (authorization?: string) =>
    checkedFetch(`${service.base_url}/metrics`, { headers: { ...(authorization && { authorization }) } })
  for (const wrong of [undefined, 'Bearer wrong', 'let-me-look', 'Basic let-me-look', 'Bearer let-me-look2'])
    expect((await get(wrong)).status, wrong).toBe(401)
  for (const right of ['bearer let-me-look', 'BEARER  let-me-look']) expect((await get(right)).status, right).toBe(200)
  const page = await get('Bearer let-me-look')
  expect(page.status).toBe(200)
  expect(page.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
})

it('shows the size of the database, its rows, and the runs of repeated work', async () => {
  const { service, page } = await start()
  await startThread(service)
  const shown = await page()
  expect(readingOf(shown, 'chat_database_bytes')).toBeGreaterThan(0)
  expect(readingOf(shown, 'chat_users')).toBe(3)
  expect(readingOf(shown, 'chat_conversations')).toBe(1)
  expect(readingOf(shown, 'chat_messages')).toBe(1)
  expect(readingOf(shown, 'chat_job_last_success_seconds{name="leases"}')).toBeGreaterThan(0)
  expect(readingOf(shown, 'chat_job_failures_total{name="retention"}')).toBe(0)
  // Nothing is counted again with each page.
  await service.signIn('linus')
  expect(readingOf(await page(), 'chat_users')).toBe(3)
})

describeOnEachDatabase('gauges of the database', (openUrl) => {
  /** Of the groups of gauges, by the name that `chat_metrics_unread_total` has for them. */
  const GAUGES: Record<string, string[]> = {
    tasks: ['chat_tasks_due{kind="mail.send"}', 'chat_tasks_oldest_seconds{kind="mail.send"}'],
    backups: ['chat_backup_last_success_seconds', 'chat_backup_overdue_seconds'],
    search_waiting: ['chat_search_waiting'],
    sizes: ['chat_database_bytes', 'chat_database_wal_bytes'],
    rows: ['chat_users', 'chat_conversations', 'chat_messages'],
    files: ['chat_attachments_bytes', 'chat_attachments_uploading'],
  }
  const CONFIG = {
    backup: { schedule: '1d', target: '/nowhere' },
    attachments: { enabled: true, storage: 'fs:/nowhere' },
  }

  async function startOn(options: ServiceOptions = {}) {
    const service = await startService(await openUrl(), options)
    onTestFinished(() => service.close())
    return { service, page: () => service.client().ops.metrics() }
  }

  it('have what the database has', async () => {
    const { service, page } = await startOn()
    // The database refuses this message, so that the index never takes it.
    await innerState(service).db.run(sql`INSERT INTO search_changes (doc, message_id, version) VALUES (7, 'x', -1)`)
    const shown = await page()
    expect(readingOf(shown, 'chat_search_waiting')).toBe(1)
    for (const [group, series] of Object.entries(GAUGES)) {
      expect(series.map((name) => readingOf(shown, name)).filter(Number.isNaN), group).toEqual([])
      expect(readingOf(shown, `chat_metrics_unread_total{of="${group}"}`)).toBe(0)
    }
  })

  it('are absent, and counted, while the database cannot be read', async () => {
    let isBroken = false
    const wrap = (storage: Storage): Storage => {
      const read = <T extends 'all' | 'get'>(name: T) =>
        (async (sql: Sql) => {
          if (isBroken) throw new Error('cannot be read')
          return storage.db[name](sql)
        }) as Storage['db'][T]
      return { ...storage, db: { ...storage.db, all: read('all'), get: read('get') } }
    }
    const { page } = await startOn({ wrap, config: CONFIG })
    isBroken = true
    const shown = await page()
    for (const [group, series] of Object.entries(GAUGES)) {
      for (const name of series) expect(readingOf(shown, name), name).toBeNaN()
      expect(readingOf(shown, `chat_metrics_unread_total{of="${group}"}`), group).toBe(1)
    }
    isBroken = false
    const later = await page()
    for (const name of Object.values(GAUGES).flat()) expect(readingOf(later, name), name).not.toBeNaN()
  })
})
