import type { Family } from './page.ts'

/** The outcomes of calls: as asked, refused by a right or a limit, ended by the client, failed by the service. */
export const MCP_OUTCOMES = ['ok', 'refused', 'cancelled', 'failed'] as const

/** The outcome of a call of a tool. */
export type McpOutcome = (typeof MCP_OUTCOMES)[number]

/** The metrics of calls by agents, each tool with its series from the start. */
export function createMcpMetrics(tools: readonly string[]) {
  const series = tools.flatMap((tool) => MCP_OUTCOMES.map((outcome) => ({ tool, outcome, value: 0 })))
  const counts = new Map(series.map((each) => [`${each.tool} ${each.outcome}`, each]))
  const family: Family = {
    name: 'chat_mcp_calls_total',
    help: 'Calls of tools over MCP, by their outcome',
    type: 'counter',
    read: () => [...counts.values()].map(({ tool, outcome, value }) => ({ labels: { tool, outcome }, value })),
  }
  return {
    family,
    called(tool: string, outcome: McpOutcome): void {
      const count = counts.get(`${tool} ${outcome}`)
      if (count) count.value++
    },
  }
}
