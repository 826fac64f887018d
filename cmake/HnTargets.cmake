# SPDX-License-Identifier: LGPL-2.1-or-later

# hn_target(NAME): what every target of ours has in common.
function(hn_target name)
        set_target_properties(${name} PROPERTIES
                C_STANDARD 17 C_EXTENSIONS ON
                POSITION_INDEPENDENT_CODE ON
                C_VISIBILITY_PRESET hidden)
        target_link_libraries(${name} PRIVATE hn-warnings hn-sanitize)
        target_compile_definitions(${name} PRIVATE HN_VERSION="${PROJECT_VERSION}")
        # Name only libraries whose symbols are used, and leave nothing writable that a bug could redirect.
        target_link_options(${name} PRIVATE LINKER:--as-needed,-z,relro,-z,now)
        # glibc's checked variants need an optimiser and disturb the sanitizers' own interceptors.
        if(NOT HN_SANITIZE)
                target_compile_options(${name} PRIVATE
                        -fstack-protector-strong $<$<CONFIG:Release,RelWithDebInfo>:-U_FORTIFY_SOURCE>
                        $<$<CONFIG:Release,RelWithDebInfo>:-D_FORTIFY_SOURCE=2>)
        endif()
endfunction()

# hn_layer(NAME [LINK TARGET...]): all C files of this folder as a static library. Layers include by folder
# ("policy/plan.h"), hence the one include root.
function(hn_layer name)
        cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK")
        file(GLOB sources CONFIGURE_DEPENDS *.c *.h)
        add_library(${name} STATIC ${sources})
        hn_target(${name})
        target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/lib)
        target_link_libraries(${name} PUBLIC ${arg_LINK})
endfunction()
