import { oneLine } from '../output.ts'

/** One thing that was looked at. What is wrong, or may be, says what to do about it. */
export type Finding = {
  /** Stable, for programs that read it. */
  code: string
  message: string
} & ({ severity: 'ok' | 'note' | 'skipped'; remedy?: string } | { severity: 'warning' | 'error'; remedy: string })

/** It is as it should be. */
export function ok(code: string, message: string): Finding {
  return { code, severity: 'ok', message }
}

/** Nothing is wrong, and somebody may want to know. */
export function note(code: string, message: string, remedy?: string): Finding {
  return { code, severity: 'note', message, ...(remedy && { remedy }) }
}

/** It works, and may hurt. */
export function warning(code: string, message: string, remedy: string): Finding {
  return { code, severity: 'warning', message, remedy }
}

/** It does not work, or loses something. */
export function failure(code: string, message: string, remedy: string): Finding {
  return { code, severity: 'error', message, remedy }
}

/** It was not looked at; the message says why. */
export function skipped(code: string, message: string, remedy?: string): Finding {
  return { code, severity: 'skipped', message, ...(remedy && { remedy }) }
}

/** The findings for people, each with what to do about it below. */
export function describeFindings(findings: Finding[]): string {
  const width = Math.max(...findings.map(({ code }) => code.length))
  return findings
    .flatMap(({ severity, code, message, remedy }) => [
      `${severity.padEnd(7)}  ${code.padEnd(width)}  ${oneLine(message)}`,
      ...(remedy ? [`${' '.repeat(width + 11)}→ ${oneLine(remedy)}`] : []),
    ])
    .join('\n')
}
