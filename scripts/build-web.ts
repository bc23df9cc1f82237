import { buildWorkspace } from '../server/admin/static/workspace/build.ts'

/** Builds the pages of the workspace into web/dist, unless they are already built from the same sources. */
const { files } = await buildWorkspace()
console.log(`web/dist: ${files.length} files`)
