import { availableParallelism } from 'node:os'
import type { Options } from './options.ts'
import { figureOf, median, type Outcome, type Row } from './row.ts'

/** Of the machine's CPU, used by other programs: above it rates say little, and ratios less than usual. */
const DISTURBING_SHARE = 0.05

const HEADINGS = ['row', 'what', 'service', 'peer', 'ratio [min..max]', 'reach', 'beyond', 'result']

export function progress(line: string): void {
  process.stderr.write(`${line}\n`)
}

export function printTable(outcomes: Outcome[], options: Options): void {
  printColumns([HEADINGS, ...outcomes.map(cells)])
  for (const { row, skipped, invalid, others } of outcomes) {
    if (skipped) console.log(`\n${row.name} was skipped: ${skipped}`)
    if (invalid) console.log(`\n${row.name} is INVALID: ${invalid}`)
    if (disturbs(others)) console.log(`\n${row.name} was disturbed: ${disturbance(others)}`)
  }
  console.log(`\nmedians of ${options.rounds} interleaved rounds of ${options.seconds} s, ${machine()}`)
}

/** Prints lines whose cells are one below the other. */
export function printColumns(lines: string[][]): void {
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  for (const line of lines)
    console.log(
      line
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join('  ')
        .trimEnd(),
    )
}

export function printJson(outcomes: Outcome[], options: Options): void {
  const rows = outcomes.map(({ row, ...outcome }) => ({
    name: row.name,
    title: row.title,
    unit: row.unit,
    peer: row.peer,
    better: row.better,
    reach: row.reach,
    beyond: row.beyond,
    ...outcome,
  }))
  console.log(JSON.stringify({ machine: machine(), rounds: options.rounds, seconds: options.seconds, rows }, null, 2))
}

function cells({ row, rounds, figure, verdict, skipped }: Outcome): string[] {
  const goals = [goal(row, row.reach), goal(row, row.beyond)]
  if (figure === undefined) return [row.name, row.title, '', '', '', ...goals, skipped ? 'skipped' : 'INVALID']
  const figures = rounds.map(figureOf)
  const peers = rounds.flatMap((round) => round.peer ?? [])
  const service = amount(median(rounds.map((round) => round.service)), row.unit)
  const range = `[${number(Math.min(...figures))}..${number(Math.max(...figures))}]`
  return [
    row.name,
    row.peer ? `${row.title}, against ${row.peer}` : row.title,
    row.peer ? service : `${service} ${range}`,
    row.peer ? amount(median(peers), row.unit) : '',
    row.peer ? `${number(figure)}x ${range}` : '',
    ...goals,
    verdict ?? '',
  ]
}

function goal(row: Row, value: number): string {
  const sign = row.better === 'higher' ? '>=' : '<='
  return row.peer ? `${sign} ${value}x` : `${sign} ${amount(value, row.unit)}`
}

function amount(value: number, unit: string): string {
  return `${number(value)} ${unit}`
}

/** Three significant digits: more would claim what runs of a few seconds cannot hold. */
function number(value: number): string {
  return value.toLocaleString('en-US', { maximumSignificantDigits: 3 })
}

/** Whether other programs used so much of the CPU that figures say little. */
export function disturbs(share: number | undefined): share is number {
  return share !== undefined && share > DISTURBING_SHARE
}

export function disturbance(share: number): string {
  return `other programs used ${Math.round(share * 100)} % of the CPU meanwhile`
}

/** Where it was measured. */
export function machine(): string {
  return `Node ${process.versions.node}, ${process.platform} ${process.arch}, ${availableParallelism()} cores`
}
