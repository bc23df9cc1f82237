/** The path below which a proxy serves the service; '' without one. This page is at `/widget/{agentId}` below it. */
export const BASE = location.pathname.replace(/\/widget\/[^/]+$/, '')
