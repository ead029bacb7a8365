import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseYAML } from 'confbox/yaml'
import { expect, it } from 'vitest'
import { ROOT } from '../support/example.ts'
import { fireAlerts } from './fire.ts'
import { OUTAGES } from './outages.ts'

it('every alert has an outage that it fires at', () => {
  const { groups } = parseYAML<{ groups: { rules: { alert: string }[] }[] }>(
    readFileSync(join(ROOT, 'examples/monitoring/alerts.yaml'), 'utf8'),
  )
  const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert))
  const tried = new Set(Object.values(OUTAGES).flatMap((outage) => outage.alerts))
  expect([...tried].sort()).toEqual(alerts.sort())
})

fireAlerts(Object.keys(OUTAGES).filter((name) => OUTAGES[name]!.is_short))
