import { oneLine } from '../output.ts'
import type { FindingCode } from './findings.ts'

/** The result of one check. A warning or an error has a remedy. */
export type Finding = {
  code: FindingCode
  message: string
} & ({ severity: 'ok' | 'note' | 'skipped'; remedy?: string } | { severity: 'warning' | 'error'; remedy: string })

/** The check passed. */
export function ok(code: FindingCode, message: string): Finding {
  return { code, severity: 'ok', message }
}

/** No problem, but useful to know. */
export function note(code: FindingCode, message: string, remedy?: string): Finding {
  return { code, severity: 'note', message, ...(remedy && { remedy }) }
}

/** It works, but may cause harm. */
export function warning(code: FindingCode, message: string, remedy: string): Finding {
  return { code, severity: 'warning', message, remedy }
}

/** It does not work, or loses data. */
export function failure(code: FindingCode, message: string, remedy: string): Finding {
  return { code, severity: 'error', message, remedy }
}

/** The check did not run; the message has the reason. */
export function skipped(code: FindingCode, message: string, remedy?: string): Finding {
  return { code, severity: 'skipped', message, ...(remedy && { remedy }) }
}

/** The findings as text, each followed by its remedy. */
export function describeFindings(findings: Finding[]): string {
  const width = Math.max(...findings.map(({ code }) => code.length))
  return findings
    .flatMap(({ severity, code, message, remedy }) => [
      `${severity.padEnd(7)}  ${code.padEnd(width)}  ${oneLine(message)}`,
      ...(remedy ? [`${' '.repeat(width + 11)}→ ${oneLine(remedy)}`] : []),
    ])
    .join('\n')
}
