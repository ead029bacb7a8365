import { agUi } from './ag-ui.ts'
import type { Door } from './door.ts'
import { mcp } from './mcp.ts'
import { own } from './own.ts'
import { responses } from './responses.ts'
import { ui } from './ui.ts'

/** The protocols whose clients read the same answers. */
export const DOORS: Door[] = [own, ui, responses, agUi, mcp]
