import type { Queries } from '../../lib/storage/database.ts'
import { type Sql, sql } from '../../lib/storage/sql.ts'

/** A node of a plan of PostgreSQL, with what it has read. */
export interface PlanNode {
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: PlanNode[]
}

/** The steps of a statement on SQLite. */
export async function listSteps(db: Queries, one: Sql): Promise<string[]> {
  const steps = await db.all<{ detail: string }>(sql`EXPLAIN QUERY PLAN ${one}`)
  return steps.map(({ detail }) => detail)
}

/** The nodes of a statement on PostgreSQL, which runs it. */
export async function listNodes(db: Queries, one: Sql): Promise<PlanNode[]> {
  const plan = await db.all<Record<string, { Plan: PlanNode }[]>>(sql`EXPLAIN (ANALYZE, FORMAT JSON) ${one}`)
  return nodesOf(Object.values(plan[0]!)[0]![0]!.Plan)
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

/** The rows that a node has read, also those that it did not return. */
export const rowsReadBy = (node: PlanNode): number =>
  node['Actual Loops'] *
  (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0))
