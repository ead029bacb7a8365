import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseYAML, stringifyYAML } from 'confbox/yaml'
import { beforeAll, describe, expect, it } from 'vitest'
import { hasPromtool, promtool } from '../support/promtool.ts'
import { startService, startThread } from '../support/service.ts'

const FOLDER = fileURLToPath(new URL('../../examples/monitoring', import.meta.url))

interface Panel {
  id: number
  type: string
  title: string
  gridPos: { x: number; y: number; w: number; h: number }
  datasource?: { uid: string }
  targets?: { expr: string; datasource: { uid: string } }[]
}

interface Dashboard {
  panels: Panel[]
  templating: { list: { name: string; type: string }[] }
}

interface Alerts {
  groups: { rules: { alert: string; expr: string; annotations: { summary: string } }[] }[]
}

let dashboard: Dashboard
let alerts: Alerts['groups'][0]['rules']
/** The pages of metrics and of alerts. */
let guide: string
/** The metrics of the service, and all names of series. */
let exported: { families: Set<string>; series: Set<string> }

beforeAll(async () => {
  dashboard = JSON.parse(await readFile(join(FOLDER, 'grafana-dashboard.json'), 'utf8'))
  alerts = parseYAML<Alerts>(await readFile(join(FOLDER, 'alerts.yaml'), 'utf8')).groups.flatMap(({ rules }) => rules)
  const pages = ['metrics', 'alerts'].map((name) => readFile(join(FOLDER, `../../docs/guides/${name}.md`), 'utf8'))
  guide = (await Promise.all(pages)).join('\n')
  const service = await startService('sqlite::memory:')
  await startThread(service)
  const lines = (await service.client().ops.metrics()).split('\n')
  await service.close()
  const families = new Set(lines.flatMap((line) => /^# TYPE (\S+)/.exec(line)?.[1] ?? []))
  // Of some, such a database has no series: those of disks, and of the clock of PostgreSQL.
  exported = { families, series: new Set([...families, ...lines.flatMap((line) => /^[a-z]\w+/.exec(line)?.[0] ?? [])]) }
})

const queries = () => dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
const namesIn = (text: string) => text.match(/\b(chat|process|nodejs)_[a-z0-9_]+/g) ?? []

describe('the dashboard', () => {
  it('queries exactly the metrics that the service exports', () => {
    const asked = new Set(queries().flatMap(namesIn))
    expect(asked.size).toBeGreaterThan(20)
    expect([...asked].filter((name) => !exported.series.has(name))).toEqual([])
    const shown = [...exported.families].filter((family) => [...asked].some((name) => name.startsWith(family)))
    expect(shown).toEqual([...exported.families])
  })

  it('takes its data source and instances from variables', () => {
    expect(dashboard.templating.list.map(({ name, type }) => [name, type])).toEqual([
      ['datasource', 'datasource'],
      ['job', 'query'],
      ['instance', 'query'],
    ])
    for (const { type, datasource, targets = [] } of dashboard.panels) {
      if (type === 'row') continue
      expect(targets).not.toEqual([])
      for (const each of [datasource, ...targets.map((target) => target.datasource)])
        expect(each?.uid).toBe(`\${datasource}`)
    }
    for (const query of queries()) expect(query).toContain('{job="$job", instance=~"$instance"')
  })

  it('has panels that do not overlap', () => {
    const { panels } = dashboard
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const taken = new Set<string>()
    for (const { title, gridPos } of panels) {
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(taken.has(`${x} ${y}`), title).toBe(false)
          taken.add(`${x} ${y}`)
        }
    }
  })

  it.skipIf(!hasPromtool)('has queries that Prometheus can parse', async () => {
    const rules = queries().map((query, index) => ({
      record: `query:${index}`,
      expr: query.replaceAll('$__rate_interval', '5m').replaceAll(/\$(job|instance)/g, 'x'),
    }))
    const folder = await mkdtemp(join(tmpdir(), 'chat-rules-'))
    await writeFile(join(folder, 'rules.yaml'), stringifyYAML({ groups: [{ name: 'dashboard', rules }] }))
    const checked = promtool(['check', 'rules', 'rules.yaml'], { cwd: folder })
    await rm(folder, { recursive: true })
    expect(checked).toMatchObject({ status: 0, output: expect.stringContaining(`${rules.length} rules found`) })
  })
})

describe('the alerts', () => {
  it('use exported metrics only', () => {
    const watched = alerts.flatMap(({ expr }) => namesIn(expr))
    expect(watched.length).toBeGreaterThan(10)
    expect(watched.filter((name) => !exported.series.has(name))).toEqual([])
  })

  it('are all in the guide, and the guide has no others', () => {
    expect([...new Set(guide.match(/\bChat[A-Z]\w+/g))].sort()).toEqual(alerts.map(({ alert }) => alert).sort())
  })

  it.skipIf(!hasPromtool)('fire as described, in Prometheus', async () => {
    expect(promtool(['test', 'rules', 'alerts.test.yaml'], { cwd: FOLDER })).toMatchObject({
      status: 0,
      output: expect.stringContaining('SUCCESS'),
    })
  })
})

it.skipIf(!hasPromtool)('the configuration of Prometheus is valid, with the token in a file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'chat-prometheus-'))
  await cp(FOLDER, folder, { recursive: true })
  expect(promtool(['check', 'config', 'prometheus.yaml'], { cwd: folder }).status).not.toBe(0)
  await writeFile(join(folder, 'chat-server.token'), 'let-me-look')
  expect(promtool(['check', 'config', 'prometheus.yaml'], { cwd: folder })).toMatchObject({ status: 0 })
  await rm(folder, { recursive: true })
})

it('the guide names every metric of the service', () => {
  expect([...exported.families].filter((family) => !guide.includes(`\`${family}\``))).toEqual([])
})
